/// A request while its body arrives.
final class PendingRequest {
    /// The longest body that is stored, in bytes.
    private let longestBody: Int
    private(set) var body: [UInt8] = []
    private(set) var isTooLong = false

    init(longestBody: Int) { self.longestBody = longestBody }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard body.count + bytes.count <= longestBody else {
            isTooLong = true
            return
        }
        body.append(contentsOf: bytes)
    }
}
