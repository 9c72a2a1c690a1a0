import Configuration
import Shell

/// Whether the configuration is valid, and the service may read its files.
enum ConfigurationCheck {
    static func findings(_ settings: Settings) -> [DoctorFinding] {
        var remarks = settings.fileConfiguration.warnings.map {
            DoctorFinding(.configuration, "\($0)", remedy: "change that member, or ignore this if it is intended")
        }
        if let text = settings.remoteMembersText {
            let advice = "to forget them: remoteConfiguration: false in the file, then reload the service"
            remarks.append(DoctorFinding(.configuration, text, advice: advice))
        }
        remarks += ServiceFiles.problems(settings, for: ServiceFiles.user(of: settings)).map {
            DoctorFinding(.configuration, $0.text, remedy: $0.remedy)
        }
        guard let path = settings.path else {
            return [DoctorFinding(.configuration, "there is no file; the defaults are in force")] + remarks
        }
        return [DoctorFinding(.configuration, "\(path) is valid")] + remarks
    }
}
