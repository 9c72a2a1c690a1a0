package import Base
package import SiteProtocol

extension SurveyHealth.Change {
    /// What is asked about a gateway, for users.
    ///
    /// - Parameter since: The time at which it was noticed first; nil: that is not known.
    package func text(of gateway: String, since: String?) -> String {
        let since = since.map { " since \($0)" } ?? ""
        let others = neighbours == 1 ? "neighbour" : "neighbours"
        switch kind {
        case .covered:
            return
                "the gateway \(gateway) hears and is heard by its \(neighbours) \(others) \(abs(decibels)) dB less\(since): was it covered?"
        case .moved:
            return
                "the gateway \(gateway) and \(deviating) of its \(neighbours) \(others) hear each other otherwise\(since), by "
                + "\(abs(decibels)) dB \(decibels < 0 ? "less" : "more") in the middle: was it moved?"
        }
    }

    /// `14:05`, with the date if that is not the one of `now`.
    package static func time(_ since: LocalTime, now: LocalTime?) -> String {
        let time = since.calendar.timeOfDay.prefix(5)
        return since.calendar.date == now?.calendar.date ? "\(time)" : "\(since.calendar.date) \(time)"
    }

    /// The answers.
    package func remedy(of gateway: String) -> String {
        let accept = "sudo ibeacon-gateway rooms gateways moved \(ShellWord.of(gateway))"
        return switch kind {
        case .covered: "If so, take away what covers it, and this ends by itself. If it is to stay so: \(accept)"
        case .moved:
            "If so, put it back, and this ends by itself. If it is to stay there: \(accept), and train the rooms around it again"
        }
    }
}
