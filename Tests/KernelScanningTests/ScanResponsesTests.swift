import Testing

@testable import KernelScanning

@Suite struct ScanResponsesTests {
    /// A legacy report of this event type with these data.
    private func legacy(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
        [type, 0, 1, 2, 3, 4, 5, 6, UInt8(data.count)] + data + [0xc0]
    }

    private func extended(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
        [type, 0, 0, 1, 2, 3, 4, 5, 6, 1, 0, 0xff, 0x7f, 0xc0] + [UInt8](repeating: 0, count: 9) + [UInt8(data.count)]
            + data
    }

    private func event(_ subevent: UInt8, _ reports: [[UInt8]]) -> [UInt8] {
        let content = [subevent, UInt8(reports.count)] + reports.flatMap(\.self)
        return [0x3e, UInt8(content.count)] + content
    }

    private func removed(_ event: [UInt8]) -> [UInt8]? { ScanResponses.removed(from: event.span) }

    @Test func `Of a legacy event the responses are left out, and all else stays as it is`() {
        let (first, response, last) = (legacy(0, [2, 1, 6]), legacy(4, [3, 9, 0x41, 0x42]), legacy(3, []))
        #expect(removed(event(2, [first, response, last])) == event(2, [first, last]))
        #expect(removed(event(2, [response])) == event(2, []))
        #expect(removed(event(2, [first, last])) == nil)
    }

    @Test func `Of an extended event, too`() {
        // Legacy ADV_IND, and the scan response to it (7.7.65.13, event type 0b0011011).
        let (first, response) = (extended(0x13, [2, 1, 6]), extended(0x1b, [3, 9, 0x41, 0x42]))
        #expect(removed(event(13, [response, first])) == event(13, [first]))
        #expect(removed(event(13, [first])) == nil)
    }

    @Test func `What is malformed is left to the parser, which counts it`() {
        let whole = event(2, [legacy(4, [2, 1, 6]), legacy(0, [2, 1, 6])])
        for length in 0..<whole.count { #expect(removed(Array(whole.prefix(length))) == nil) }
        #expect(removed([0x0e] + whole.dropFirst()) == nil)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<10_000 {
            let bytes = (0..<Int.random(in: 0...64)).map { _ in UInt8.random(in: 0...255, using: &random) }
            _ = removed([0x3e, 0, 2, 3] + bytes)
            _ = removed([0x3e, 0, 13, 3] + bytes)
        }
    }
}
