"""An animated PNG of screenshots: of each, only what differs from the one before. PNG: https://www.w3.org/TR/png-3/"""
import struct, zlib


def decode(data):
    """The width, and the rows of an RGB or RGBA picture as RGB."""
    place, pixels, width, channels = 8, b"", 0, 3
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + length]
        if kind == b"IHDR":
            width, channels = struct.unpack(">I", body[:4])[0], {2: 3, 6: 4}[body[9]]
        elif kind == b"IDAT":
            pixels += body
        place += length + 12
    pixels, stride, rows = zlib.decompress(pixels), width * channels, []
    before = bytearray(stride)
    for start in range(0, len(pixels), stride + 1):
        kind, row = pixels[start], bytearray(pixels[start + 1:start + 1 + stride])
        for i in range(stride) if kind else ():
            left = row[i - channels] if i >= channels else 0
            above = before[i]
            corner = before[i - channels] if i >= channels else 0
            if kind == 1:
                row[i] = (row[i] + left) & 255
            elif kind == 2:
                row[i] = (row[i] + above) & 255
            elif kind == 3:
                row[i] = (row[i] + (left + above) // 2) & 255
            else:
                a, b, c = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
                row[i] = (row[i] + (left if a <= b and a <= c else above if b <= c else corner)) & 255
        before = row
        rows.append(bytes(row) if channels == 3 else b"".join(row[i:i + 3] for i in range(0, stride, 4)))
    return width, rows


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def packed(rows):
    return zlib.compress(b"".join(b"\0" + row for row in rows), 9)


def difference(old, new):
    """Left, top, width and height of what differs; nil if nothing does."""
    lines = [y for y, (a, b) in enumerate(zip(old, new)) if a != b]
    if not lines:
        return None
    columns = [x for y in lines for x in range(len(new[y]) // 3) if old[y][3 * x:3 * x + 3] != new[y][3 * x:3 * x + 3]]
    return min(columns), lines[0], max(columns) - min(columns) + 1, lines[-1] - lines[0] + 1


def animation(pictures, seconds):
    """The bytes of an animation of PNGs of one size, each for so many seconds."""
    width, first = decode(pictures[0])
    shown, parts = first, [[(0, 0, width, len(first)), first, 1]]
    for picture in pictures[1:]:
        _, rows = decode(picture)
        box = difference(shown, rows)
        if box is None:
            parts[-1][2] += 1
            continue
        left, top, wide, high = box
        parts.append([box, [row[3 * left:3 * (left + wide)] for row in rows[top:top + high]], 1])
        shown = rows
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(first), 8, 2, 0, 0, 0))
    out += chunk(b"acTL", struct.pack(">II", len(parts), 0))
    number = 0
    for place, ((left, top, wide, high), rows, count) in enumerate(parts):
        delay = round(seconds * count * 100)
        out += chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, wide, high, left, top, delay, 100, 0, 0))
        number += 1
        if place == 0:
            out += chunk(b"IDAT", packed(rows))
        else:
            out += chunk(b"fdAT", struct.pack(">I", number) + packed(rows))
            number += 1
    return out + chunk(b"IEND", b"")
