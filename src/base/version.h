/* The version of Cyclescope: of the program, of the library, and of the files that they write. */
#ifndef CYCLESCOPE_BASE_VERSION_H
#define CYCLESCOPE_BASE_VERSION_H

#define CYCLESCOPE_VERSION "0.2.0"

#endif
