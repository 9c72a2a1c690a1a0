/// An interface to Bluetooth, or a capture.
package enum ScannerChoice: Hashable, Sendable {
    case auto, mgmt, hci, bluez
    /// A recording, played once in real time (times `speed`), then silence. A relative path starts at the configuration file.
    case capture(file: String, speed: Double)

    /// Those that are named by a word alone.
    static let interfaces: [ScannerChoice] = [.auto, .mgmt, .hci, .bluez]

    /// The name in the configuration; for a recording without its path.
    package var name: String { if case .capture = self { "capture" } else { "\(self)" } }
}
