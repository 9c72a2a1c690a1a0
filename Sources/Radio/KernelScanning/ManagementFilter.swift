import CBluetooth

/// The messages of the management interface that a socket leaves out. The kernel drops them before it wakes this program.
struct ManagementFilter: Hashable {
    /// Codes of events.
    var leftOut: [UInt16]

    /// A program of the classic Berkeley Packet Filter. A message begins with its code; numbers are read with the most significant octet
    /// first.
    var program: [sock_filter] {
        func result(_ length: UInt32) -> sock_filter {
            sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: length)
        }
        let load = sock_filter(code: UInt16(BPF_LD | BPF_H | BPF_ABS), jt: 0, jf: 0, k: 0)
        let jumps = leftOut.enumerated().map { index, code in
            // The first result keeps the message, the second drops it.
            sock_filter(
                code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jt: UInt8(leftOut.count - index), jf: 0,
                k: UInt32(code.byteSwapped))
        }
        return [load] + jumps + [result(.max), result(0)]
    }
}
