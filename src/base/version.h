/* The version of Cyclescope: of the program, of the library, and in what they write. */
#ifndef CYCLESCOPE_BASE_VERSION_H
#define CYCLESCOPE_BASE_VERSION_H

#define CYCLESCOPE_VERSION "0.1.0"

#endif
