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
                "only root may pair and read the key; run: sudo ibeacon-gateway phones add '\(name)'")
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

    /// Keeps a second enrolment away, whose advertisement, pairings and record would be mixed with those of the first. The
    /// machine has one radio for all state directories. The kernel ends the lock with the program.
    ///
    /// - Throws: `temporaryFailure` if an enrolment is under way. It is not `unavailable`, with which an enrolment ends that nobody
    ///   came to: a script may try again without asking anybody to do something.
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

/// The words for an enrolment.
enum EnrolmentText {
    static func progress(_ progress: EnrolmentProgress, isKeyboard: Bool) -> String {
        switch progress {
        case .removedLeftover(let device):
            "an enrolment was interrupted before; its pairing with \(device) is removed"
        case .waiting:
            """
            waiting for three minutes. On the phone or watch, which must be near:
              - iPhone, iPad: Settings > Bluetooth, choose '\(PhoneEnrolment.shownName)', then Pair
              - Apple Watch: Settings > Bluetooth, below Health Devices choose '\(PhoneEnrolment.shownName)'
              - Android: Settings > Connected devices > Pair new device, choose '\(PhoneEnrolment.shownName)'
            """ + (isKeyboard ? "" : "\nA Samsung phone that does not list it may list a keyboard: add --keyboard")
        case .advertisedByKernel(let reason): "\(reason); so the kernel advertises, and bluetoothd pairs"
        case .known(let device):
            "\(device) has connected, which this machine is paired with or trusts; it stays so, and is not enrolled"
        case .pairingStays(let address):
            """
            this machine was paired with the phone before, and bluetoothd could remove only both pairings, so both stay. While \
            they do, this machine hears the phone under the address of the pairing and not by its key; here a region can \
            name it: mac:\(address)
            """
        case .connected(let address): "\(address) has connected; confirm the pairing on the phone"
        case .left: "it has disconnected without pairing; choose '\(PhoneEnrolment.shownName)' again"
        case .refused(let reason):
            """
            it did not pair (\(reason)). If the phone was paired with '\(PhoneEnrolment.shownName)' before, forget that \
            device on the phone; then choose it again
            """
        case .paired: "paired; taking the key, and removing the pairing"
        }
    }

    /// The key of an enrolled phone.
    ///
    /// - Parameter pairingStays: Whether the pairing could not be removed, because the user has paired the phone, too.
    /// - Throws: why there is none, and what to do.
    static func key(
        _ outcome: EnrolmentOutcome, name: String, pairingStays: Bool, say: (String) -> Void
    ) throws(Failure) -> IdentityKey {
        switch outcome {
        case .enrolled(let key, let isTested):
            say(
                isTested
                    ? "the key resolves the address under which the phone has connected"
                    : "the phone has connected under an address that does not change, so the key could not be tested")
            // To forget this machine on the phone would end the user's own pairing.
            guard !pairingStays else { return key }
            say("the pairing is removed here; on the phone, forget '\(PhoneEnrolment.shownName)', too")
            return key
        case .noKey(let address):
            let region =
                address.map { "if it stays the same, a region can name it: regions add '\(name):mac:\($0)'" }
                ?? "see: scan --all"
            throw Failure(
                .badData,
                "the device has paired and given no identity key, so its address does not change; \(region)")
        case .wrongKey:
            throw Failure(
                .badData, "the key does not resolve the address under which the phone has connected; nothing is stored")
        case .timeout(let refusals):
            throw Failure(
                .unavailable,
                refusals == 0
                    ? "no phone has connected within three minutes; hold it near, and run the command again"
                    : """
                    no phone has paired within three minutes; attempts that failed or were refused: \(refusals). If the \
                    phone was paired with '\(PhoneEnrolment.shownName)' before, forget that device there
                    """)
        case .interrupted: throw Failure(.unavailable, "interrupted; nothing is stored, and nothing is left")
        case .failed(let reason): throw Failure(.unavailable, "\(reason); nothing is stored")
        }
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
