import Base
import Enrolment
import Identities
import System

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
            "\(device) has connected; this machine is paired with it or trusts it, so it is left as it is and not enrolled"
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
                address.map {
                    "if it stays the same, a region can name it: sudo ibeacon-gateway regions add "
                        + ShellWord.quoted("\(name):mac:\($0)")
                } ?? "see: sudo ibeacon-gateway scan --all"
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
