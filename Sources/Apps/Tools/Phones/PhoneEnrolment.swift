import Base
import Beacon
import DBus
import Enrolment
import GatewayApp
import Glibc
import Identities
import KernelScanning
import Runtime
import Scanning
import Shell
import System

/// `phones add NAME` without a key: pairs with the phone, takes its key, and removes the pairing again.
final class PhoneEnrolment {
    /// What the phone's list of devices shows.
    static let shownName = "ibeacon-gateway"

    private let lock: PrivateLock
    private let loop: EventLoop
    private let isQuiet: Bool
    private let isKeyboard: Bool
    private let settings: Settings
    private let host: LoopHost
    private var enrolment: (any Enrolment)?
    private var bus: BusConnection?
    private var signals: [SignalWatch] = []
    private var end: (outcome: EnrolmentOutcome, left: [String])?
    private var pairingStays = false

    private init(_ arguments: Arguments, _ settings: Settings) throws {
        lock = try Self.lock()
        loop = try EventLoop()
        self.settings = settings
        host = LoopHost(loop: loop, log: Log(threshold: .error))
        isQuiet = arguments.has("quiet")
        isKeyboard = arguments.has("keyboard")
    }

    /// Waits until a phone has paired, at most for three minutes.
    ///
    /// - Returns: Its key, most significant octet first.
    static func key(of name: String, _ arguments: Arguments, _ settings: Settings) throws -> IdentityKey {
        guard geteuid() == 0 else {
            throw Failure(
                .noPermission,
                "only root may pair and read the key; run: sudo ibeacon-gateway phones add \(ShellWord.quoted(name))")
        }
        let enrolment = try PhoneEnrolment(arguments, settings)
        let end = try enrolment.run()
        for reason in end.left {
            Terminal.printError("not undone: \(reason); run this command again, which undoes it first")
        }
        return try EnrolmentText.key(end.outcome, name: name, pairingStays: enrolment.pairingStays) {
            enrolment.say($0)
        }
    }

    /// Prevents a second enrolment, whose advertisement, pairings and record would get mixed up with those of the first. The
    /// machine has one radio for all state directories. The kernel ends the lock with the program.
    ///
    /// - Throws: `temporaryFailure` if an enrolment is under way. It is not `unavailable`, which ends an enrolment that nobody came
    ///   to: a script may try again without asking anybody to do anything.
    static func lock(in directory: String = "/run") throws(Failure) -> PrivateLock {
        guard let lock = try PrivateLock("ibeacon-gateway-enrolment.lock", in: directory, waits: false) else {
            throw Failure(
                .temporaryFailure,
                "another 'phones add' enrols a phone on this machine now; wait until it has ended, at most three minutes, "
                    + "or end it with Ctrl+C")
        }
        return lock
    }

    private func run() throws -> (outcome: EnrolmentOutcome, left: [String]) {
        // A setup goes on after this, and ends by these signals as usual.
        defer {
            signals = []
            Interruption.signals.forEach(Terminal.unblock)
        }
        for signal in Interruption.signals {
            signals.append(try loop.onSignal(signal) { [unowned self] in enrolment?.interrupt() })
        }
        if let bus = try? BusConnection(to: BlueZEnrolment.bluez, host: host) {
            self.bus = bus
            begin(
                BlueZEnrolment(
                    appearance, host: host, bus: bus, storage: storage,
                    openKernel: { [host] () throws(ScannerError) in
                        guard Capability.netAdmin.isHeld else {
                            throw ScannerError(
                                .permission, "that needs CAP_NET_ADMIN, which this process does not have")
                        }
                        return try ManagementSocket(host: host)
                    },
                    isIncoming: { ConnectionList.isIncoming(adapter: $0, device: $1) },
                    onEvent: { [unowned self] in take($0) }))
        } else {
            beginWithoutBluetoothd()
        }
        // The enrolment ends by itself; the margin is for undoing.
        try loop.step(until: Clocks.now().advanced(by: EnrolmentCourse.duration * 2)) { end != nil }
        return end ?? (.failed("the enrolment did not end"), [])
    }

    private func begin(_ enrolment: some Enrolment) {
        self.enrolment = enrolment
        enrolment.start()
    }

    private func beginWithoutBluetoothd() {
        guard !ConnectionList.isServed else {
            end = (
                .failed(
                    "a program serves Bluetooth connections (/proc/net/l2cap), and if it is bluetoothd its keys would be lost. "
                        + "Let this command reach its D-Bus system bus, or end it"), []
            )
            return
        }
        do throws(ScannerError) {
            begin(
                KernelEnrolment(
                    appearance, host: host, channel: try ManagementSocket(host: host), bus: bus, storage: storage,
                    isIncoming: { ConnectionList.isIncoming(adapter: $0, device: $1) },
                    onEvent: { [unowned self] in take($0) }))
        } catch {
            end = (.failed(error.description), [])
        }
    }

    private var appearance: EnrolmentAppearance {
        EnrolmentAppearance(
            name: Self.shownName, profile: isKeyboard ? .keyboard : .heartRateSensor,
            selection: settings.configuration.adapterSelection)
    }

    private var storage: EnrolmentFiles { EnrolmentFiles(directory: settings.stateDirectory) }

    private func take(_ event: EnrolmentEvent) {
        switch event {
        case .progress(.pairingStays(let address)):
            pairingStays = true
            // Something lasting stays on the machine, which --quiet does not hide.
            Terminal.printError(EnrolmentText.progress(.pairingStays(address), isKeyboard: isKeyboard))
        case .progress(let progress):
            // What was said before was about an earlier enrolment.
            if progress == .waiting { pairingStays = false }
            say(EnrolmentText.progress(progress, isKeyboard: isKeyboard))
        case .withoutBluetoothd: beginWithoutBluetoothd()
        case .ended(let outcome, let left): end = (outcome, left)
        }
    }

    private func say(_ text: String) {
        if !isQuiet { Terminal.printError(text) }
    }
}

/// The record of an enrolment in the state directory, and bluetoothd's files.
private final class EnrolmentFiles: EnrolmentStorage {
    private static let name = "enrolment"
    private static let bonds = "/var/lib/bluetooth"
    private let directory: String

    init(directory: String) { self.directory = directory }

    func readRecord() -> EnrolmentRecord {
        (try? PrivateFile.read(Self.name, in: directory)).flatMap { $0 }.map(EnrolmentRecord.init(parsing:))
            ?? EnrolmentRecord()
    }

    func write(_ record: EnrolmentRecord) -> String? {
        do throws(Failure) {
            guard !record.isEmpty else {
                try PrivateFile.remove(Self.name, in: directory)
                return nil
            }
            try FileAccess.createDirectory(directory)
            try PrivateFile.write(record.bytes, to: Self.name, in: directory)
            return nil
        } catch {
            return error.message
        }
    }

    func bond(adapter: DeviceAddress, device: DeviceAddress) -> [UInt8]? {
        try? FileAccess.read("\(Self.bonds)/\(adapter)/\(device)/info")
    }
}
