import DBus
import Scanning

extension ScanProblem {
    static let bluetoothdIsNotRunning = ScanProblem(
        "bluetoothd is not running", remedy: "start it: sudo systemctl start bluetooth")

    /// bluetoothd, or the bus, answers the question for its objects with an error.
    init(silenceOfBluetoothd answer: BusMessage) {
        self.init(
            "bluetoothd tells nothing: \(answer.errorText)",
            remedy: BusRefusal.remedy(answer.errorText) ?? "see: systemctl status bluetooth")
    }
}
