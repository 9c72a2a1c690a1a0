import CBluetooth

/// What a raw HCI socket lets through. The kernel drops everything else before it wakes this program.
///
/// The kernel's own filter chooses kinds of packets and events, and can choose one opcode of answers and none of commands. So a
/// program of the classic Berkeley Packet Filter chooses the opcodes.
struct HCIFilter: Hashable {
    /// Commands with these opcodes, which the kernel shows only to a holder of CAP_NET_RAW, and the answers to them.
    var opcodes: [UInt16]
    /// Whether LE events come, too.
    var hasReports: Bool

    /// Kinds of packets.
    var packetTypes: [Int32] { [HCI_COMMAND_PKT, HCI_EVENT_PKT] }
    var events: [Int32] { [EVT_CMD_COMPLETE, EVT_CMD_STATUS] + (hasReports ? [EVT_LE_META_EVENT] : []) }

    /// The program. A packet begins with its type; numbers are read with the most significant octet first.
    var program: [sock_filter] {
        var code: [sock_filter] = []
        let last = UInt8(opcodes.count)
        func load(_ size: Int32, _ offset: UInt32) -> sock_filter {
            sock_filter(code: UInt16(BPF_LD | size | BPF_ABS), jt: 0, jf: 0, k: offset)
        }
        func jump(_ value: UInt32, _ yes: UInt8, else no: UInt8) -> sock_filter {
            sock_filter(code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jt: yes, jf: no, k: value)
        }
        func skip(_ count: UInt8) -> sock_filter {
            sock_filter(code: UInt16(BPF_JMP | BPF_JA), jt: 0, jf: 0, k: UInt32(count))
        }
        func result(_ length: UInt32) -> sock_filter {
            sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: length)
        }
        // What is an answer is left to the kernel's filter; here only the places of the opcodes differ.
        code += [load(BPF_B, 0), jump(UInt32(HCI_COMMAND_PKT), 0, else: 2), load(BPF_H, 1), skip(6)]
        code += [load(BPF_B, 1), jump(UInt32(EVT_CMD_COMPLETE), 0, else: 2), load(BPF_H, 4), skip(2)]
        code += [jump(UInt32(EVT_CMD_STATUS), 0, else: last + 2), load(BPF_H, 5)]
        for (index, opcode) in opcodes.enumerated() {
            // The first result drops the packet, the second keeps it.
            code.append(jump(UInt32(opcode.byteSwapped), last - UInt8(index), else: 0))
        }
        return code + [result(0), result(UInt32.max)]
    }
}
