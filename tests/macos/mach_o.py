"""A reader of 64-bit little-endian Mach-O files, as far as the check of our libraries needs one: load commands, symbols, and what the loader binds
where, in either of the two encodings that linkers write (opcodes, and chained fixups)."""
import dataclasses
import struct

MAGIC_64 = 0xFEEDFACF
CPU_NAMES = {0x01000007: "x86_64", 0x0100000C: "arm64"}
DYLIB_FILE_TYPE = 6

LC_SYMTAB = 0x2
LC_LOAD_DYLIB = 0xC
LC_ID_DYLIB = 0xD
LC_SEGMENT_64 = 0x19
LC_RPATH = 0x8000001C
LC_DYLD_INFO = (0x22, 0x80000022)
LC_BUILD_VERSION = 0x32
LC_VERSION_MIN_MACOSX = 0x24
LC_CHAINED_FIXUPS = 0x80000034
LC_EXPORTS_TRIE = 0x80000033
LC_OTHER_DYLIBS = (0x80000018, 0x8000001F, 0x80000020, 0x80000023)  # weak, re-exported, lazy, upward
LC_DYLIBS = (LC_LOAD_DYLIB, *LC_OTHER_DYLIBS)

N_STAB, N_TYPE = 0xE0, 0x0E
N_UNDEFINED = 0
SECTION_TYPE = 0xFF
THREAD_LOCAL_VARIABLES = 0x13


@dataclasses.dataclass
class Section:
    segment: str
    name: str
    address: int
    size: int
    offset: int
    flags: int


@dataclasses.dataclass
class Segment:
    name: str
    address: int
    size: int
    offset: int
    protection: int


@dataclasses.dataclass
class Symbol:
    name: str
    kind: int
    description: int
    value: int

    @property
    def is_undefined(self):
        return self.kind & N_TYPE == N_UNDEFINED

    @property
    def library_ordinal(self):
        """Which of the libraries the loader looks in, from 1."""
        return self.description >> 8


def version(word):
    """X.Y of the nibbles XXXX.YY.ZZ."""
    return f"{word >> 16}.{word >> 8 & 0xFF}"


class MachO:
    def __init__(self, data):
        self.data = data
        magic, cpu, _, self.file_type, count, _, self.flags, _ = struct.unpack_from("<8I", data)
        if magic != MAGIC_64:
            raise ValueError("not a 64-bit Mach-O file for one CPU")
        self.cpu = CPU_NAMES.get(cpu, hex(cpu))
        self.segments, self.sections, self.symbols = [], [], []
        self.dylibs, self.rpaths = [], []
        self.install_name = self.minimum_system = None
        self._opcode_streams, self._chained, self._trie = [], None, (0, 0)
        offset = 32
        for _ in range(count):
            command, size = struct.unpack_from("<2I", data, offset)
            self._read_command(command, offset, size)
            offset += size

    def _read_command(self, command, offset, size):
        data = self.data
        if command == LC_SEGMENT_64:
            self._read_segment(offset)
        elif command == LC_SYMTAB:
            self._read_symbols(*struct.unpack_from("<4I", data, offset + 8))
        elif command in LC_DYLIBS:
            self.dylibs.append(self._string_of_command(offset, size))
        elif command == LC_ID_DYLIB:
            self.install_name = self._string_of_command(offset, size)
        elif command == LC_RPATH:
            self.rpaths.append(self._string_of_command(offset, size))
        elif command == LC_BUILD_VERSION:
            platform, minimum = struct.unpack_from("<2I", data, offset + 8)
            self.minimum_system = ("macos" if platform == 1 else f"platform {platform}", version(minimum))
        elif command == LC_VERSION_MIN_MACOSX:
            self.minimum_system = ("macos", version(struct.unpack_from("<I", data, offset + 8)[0]))
        elif command in LC_DYLD_INFO:
            fields = struct.unpack_from("<10I", data, offset + 8)
            self._opcode_streams, self._trie = [fields[2:4], fields[6:8]], fields[8:10]  # binds and lazy binds; exports
        elif command == LC_EXPORTS_TRIE:
            self._trie = struct.unpack_from("<2I", data, offset + 8)
        elif command == LC_CHAINED_FIXUPS:
            self._chained = struct.unpack_from("<2I", data, offset + 8)

    def _string_of_command(self, offset, size):
        start = offset + struct.unpack_from("<I", self.data, offset + 8)[0]
        return self.data[start:offset + size].split(b"\0")[0].decode()

    def _read_segment(self, offset):
        name, address, size, file_offset, _, _, protection, count, _ = struct.unpack_from("<16s4Q4I", self.data, offset + 8)
        self.segments.append(Segment(text(name), address, size, file_offset, protection))
        for i in range(count):
            fields = struct.unpack_from("<16s16s2Q8I", self.data, offset + 72 + i * 80)
            self.sections.append(Section(text(fields[1]), text(fields[0]), fields[2], fields[3], fields[4], fields[8]))

    def _read_symbols(self, table, count, strings, _):
        for i in range(count):
            name, kind, _, description, value = struct.unpack_from("<IBBHQ", self.data, table + i * 16)
            if kind & N_STAB:
                continue
            start = strings + name
            self.symbols.append(Symbol(self.data[start:self.data.index(b"\0", start)].decode(), kind, description, value))

    def section(self, name):
        """The section of that name, None if there is none."""
        return next((s for s in self.sections if s.name == name), None)

    def words(self, section):
        """(address, value as it is in the file) of each eight-byte word of a section."""
        for i in range(0, section.size, 8):
            yield section.address + i, struct.unpack_from("<Q", self.data, section.offset + i)[0]

    def exports(self):
        """The names that the loader finds in the library. Symbols have a mark for that too, which it does not look at."""
        offset, size = self._trie
        names = []

        def walk(position, prefix):
            length, position = number_at(self.data, position)
            if length:
                names.append(prefix)
            position += length
            children = self.data[position]
            position += 1
            for _ in range(children):
                stop = self.data.index(b"\0", position)
                label = self.data[position:stop].decode()
                child, position = number_at(self.data, stop + 1)
                walk(offset + child, prefix + label)

        if size:
            walk(offset, "")
        return names

    def binds(self):
        """The name of the symbol whose address the loader writes, by the address it writes it to."""
        if self._chained:
            return self._binds_of_chains()
        found = {}
        for offset, size in self._opcode_streams:
            found.update(self._binds_of_opcodes(offset, size))
        return found

    def _binds_of_opcodes(self, position, size):
        end = position + size
        name, address = None, 0
        found = {}

        def number():
            nonlocal position
            value, position = number_at(self.data, position)
            return value

        while position < end:
            operation, immediate = self.data[position] & 0xF0, self.data[position] & 0x0F
            position += 1
            if operation == 0x20 or operation == 0x60:  # ordinal, addend
                number()
            elif operation == 0x40:
                stop = self.data.index(b"\0", position)
                name, position = self.data[position:stop].decode(), stop + 1
            elif operation == 0x70:
                address = self.segments[immediate].address + number()
            elif operation == 0x80:
                address = (address + number()) % 2**64
            elif operation in (0x90, 0xA0, 0xB0):
                found[address] = name
                address += 8
                if operation == 0xA0:
                    address = (address + number()) % 2**64
                elif operation == 0xB0:
                    address += immediate * 8
            elif operation == 0xC0:
                times, skip = number(), number()
                for _ in range(times):
                    found[address] = name
                    address += 8 + skip
        return found

    def _binds_of_chains(self):
        start = self._chained[0]
        _, starts, imports, symbols, count, encoding, _ = struct.unpack_from("<7I", self.data, start)
        if encoding != 1:
            raise ValueError("imports with addends: not expected of our libraries")
        names = []
        for i in range(count):
            position = start + symbols + (struct.unpack_from("<I", self.data, start + imports + i * 4)[0] >> 9)
            names.append(self.data[position:self.data.index(b"\0", position)].decode())
        found = {}
        starts += start
        for i, segment in enumerate(self.segments[:struct.unpack_from("<I", self.data, starts)[0]]):
            offset = struct.unpack_from("<I", self.data, starts + 4 + i * 4)[0]
            if offset:
                self._follow_chains(starts + offset, segment, names, found)
        return found

    def _follow_chains(self, position, segment, names, found):
        _, page_size, form, _, _, pages = struct.unpack_from("<IHHQIH", self.data, position)
        if form not in (2, 6):
            raise ValueError("pointers with authentication: not expected of our libraries")
        for page in range(pages):
            at = struct.unpack_from("<H", self.data, position + 22 + page * 2)[0]
            if at == 0xFFFF:
                continue
            at += page * page_size
            while True:
                word = struct.unpack_from("<Q", self.data, segment.offset + at)[0]
                if word >> 63:
                    found[segment.address + at] = names[word & 0xFFFFFF]
                step = word >> 51 & 0xFFF
                if step == 0:
                    break
                at += step * 4


def number_at(data, position):
    """A number of seven bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def text(padded):
    return padded.rstrip(b"\0").decode()
