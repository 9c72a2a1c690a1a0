/// How Protocol Buffers write the value of a field. Groups, which are no longer used, are refused.
enum WireType: UInt8 {
    case varint = 0
    case fixed64 = 1
    case bytes = 2
    case fixed32 = 5
}
