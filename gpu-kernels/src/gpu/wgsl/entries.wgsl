// A legal entry in two words: its position; and its move, packed: index, from, to, plane.
// Planes of underpromotion count from 0, and NO_PLANE says that it is none.

struct Entry {
    position: u32,
    move_: u32,
}

const NO_PLANE: u32 = 15u;

fn index_of(entry: Entry) -> u32 {
    return entry.move_ & 0x1fffu;
}

fn from_of(entry: Entry) -> u32 {
    return entry.move_ >> 13u & 63u;
}

fn to_of(entry: Entry) -> u32 {
    return entry.move_ >> 19u & 63u;
}

fn plane_of(entry: Entry) -> u32 {
    return entry.move_ >> 25u & 15u;
}
