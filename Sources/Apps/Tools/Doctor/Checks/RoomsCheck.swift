import Base
import Glibc
import OwnTracks
import RoomsApp
import Shell
import SiteCore
import SiteProtocol
import Storage

/// The gateways and rooms of the site, on a machine with the state of a rooms service.
enum RoomsCheck {
    static func findings(_ settings: Settings) -> [DoctorFinding] {
        guard let identity = try? RoomServiceIdentity(settings.configuration), hasService(identity, settings) else {
            return []
        }
        // The broker's findings already report why no connection is possible.
        guard let topics = try? SiteTopics(settings, filters: SiteStatus.filters, optional: SiteStatus.optionalFilters)
        else { return [] }
        defer { topics.close() }
        guard (try? topics.collect()) != nil, (try? topics.watchCards()) != nil else { return [] }
        let status = SiteStatus(topics)
        if let closure = status.closure { return [DoctorFinding(.rooms, closure.text, remedy: closure.remedy)] }
        let adoption = status.adoptionAdvice.map { DoctorFinding(.rooms, $0.text, remedy: $0.remedy) }
        guard status.hasActiveService else {
            if let adoption { return [adoption] }
            let directory =
                settings.stateDirectory == Settings.defaultStateDirectory
                ? RoomServiceProcess.defaultStateDirectory : settings.stateDirectory
            if let local = LocalRoomsService.asked(StatusClient(stateDirectory: directory), site: identity.site) {
                return [DoctorFinding(.rooms, local.text, remedy: local.remedy)]
            }
            // After `rooms clear` there is intentionally no list.
            guard topics.retained[RoomTopic.tags(site: identity.site).text] != nil else { return [] }
            return [
                DoctorFinding(
                    .rooms,
                    (["no rooms service is active for site '\(identity.site)'"] + status.services.remarks)
                        .joined(separator: "; "),
                    remedy:
                        "sudo systemctl enable --now ibeacon-gateway-rooms; or, to turn rooms off: sudo ibeacon-gateway rooms clear"
                )
            ]
        }
        let findings = status.gatewayAdvice.map { DoctorFinding(.rooms, $0.text, remedy: $0.remedy) }
        let seen = DoctorFinding(.rooms, "\(counted(status.gateways.count, "gateway")) at site '\(identity.site)'")
        let asked = status.questions.map { DoctorFinding(.rooms, $0.text, remedy: $0.remedy) }
        return [seen] + (adoption.map { [$0] } ?? []) + findings + asked
            + (status.services.remarks + status.remarks).map { DoctorFinding(.rooms, $0) }
    }

    private static func hasService(_ identity: RoomServiceIdentity, _ settings: Settings) -> Bool {
        if settings.stateDirectory == Settings.defaultStateDirectory {
            return access(RoomServiceProcess.defaultStateDirectory, F_OK) == 0
        }
        // The store in another state directory shows whether it belongs to the rooms service.
        guard let reader = try? StoreReader(directory: settings.stateDirectory) else { return false }
        return (try? reader.regions()[ExactString(identity.topics.base)]) != nil
    }
}
