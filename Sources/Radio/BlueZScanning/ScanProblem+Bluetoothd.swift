import DBus
import Scanning

extension ScanProblem {
    static let bluetoothdIsNotRunning = ScanProblem(
        "bluetoothd is not running", remedy: "start it: sudo systemctl start bluetooth")

    static let bluetoothdDoesNotAnswer = ScanProblem(
        "bluetoothd does not answer", remedy: "sudo systemctl restart bluetooth; why: journalctl -u bluetooth")

    /// bluetoothd, or the bus, answers the question for its objects with an error.
    init(silenceOfBluetoothd answer: BusMessage) {
        self.init(
            "bluetoothd tells nothing: \(answer.errorText)",
            remedy: BusRefusal.remedy(answer.errorText) ?? "see: systemctl status bluetooth")
    }
}

extension MessageBus {
    /// Whether bluetoothd has left a call unanswered for ten seconds. It answers within one, and the kernel gives a controller two.
    var isStalled: Bool { longestWait.map { $0 >= .seconds(10) } ?? false }
}
