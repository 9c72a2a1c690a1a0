import Base
import Configuration
import Glibc
import Identities
import OwnTracks
import Regions
import Shell
import System

extension Setup {
    /// Whether a person is asked for a phone, if no option names one. Only root can enrol a phone.
    var asksForPhone: Bool { dialogue.isInteractive && isForService && geteuid() == 0 }

    /// Asks for a phone that is enrolled here.
    mutating func choosePhone() throws {
        phone = arguments.value("phone")
        if phone == nil, asksForPhone {
            let name = try dialogue.ask("Name for a phone or watch to enrol now (empty: none)", "")
            if !name.isEmpty { phone = name }
        }
        if let phone { try PhonesCommand.check(name: phone) }
    }

    /// Enrols the phone, and makes a region of it. What was set up before stays if that fails.
    ///
    /// - Returns: Whether all is as wanted.
    func enrolPhone() throws -> Bool {
        guard let phone else { return true }
        do {
            let settings = try Settings(readingFrom: path, stateDirectory: stateDirectory)
            let key = try PhonesCommand.add(phone, arguments, settings)
            let region = try SetupRegions.region("\(phone):\(key.uuid)")
            try regions.add(region, of: settings.configuration.trackers[0].topics.base)
            dialogue.show("Made the region \(region.displayName).")
            return true
        } catch let failure as Failure {
            dialogue.show(
                "The phone '\(Terminal.printable(phone))' is not enrolled: \(failure.message). Everything else is set up; "
                    + "for the phone: sudo ibeacon-gateway phones add \(ShellWord.quoted(phone))")
            return false
        }
    }
}
