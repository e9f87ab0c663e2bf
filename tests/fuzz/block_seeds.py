"""Seeds for fuzzing readers of files of blocks, made from the description in src/base/block_file.h alone."""
import os
import struct
import zlib


def frame(raw):  # a zstd frame with its size and one block, stored
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(raw)]) + (len(raw) << 3 | 1).to_bytes(3, "little") + raw


def summed(data):
    return data + struct.pack("<I", zlib.crc32(data))


def write_seeds(folder, magic, blocks):
    """A file of these blocks, their records and the first one's frame, as tests/fuzz/block_input.h takes them."""
    file = summed(magic + struct.pack("<I", 1))
    for number, raw in enumerate(blocks):
        file += summed(summed(struct.pack("<4sIII", b"BLCK", number, len(raw), len(frame(raw)))) + frame(raw))
    seeds = {"file": b"\0" + file,
             "records": b"\1" + b"".join(struct.pack("<H", len(raw)) + raw for raw in blocks),
             "frame": b"\2" + struct.pack("<I", len(blocks[0])) + frame(blocks[0])}
    for name, data in seeds.items():
        with open(os.path.join(folder, name), "wb") as to:
            to.write(data)
