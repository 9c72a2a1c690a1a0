import Base
import Scanning

/// Advertising reports in each second of the last minute, by adapter.
struct ReportRates {
    /// How often `sample` is called.
    static let period: Duration = .seconds(10)
    private static let most = 6

    private struct Sample {
        let instant: MonotonicInstant
        let reports: UInt64
    }

    /// By adapter name. Removed adapters are forgotten with the next sample.
    private var samples: [String: [Sample]] = [:]

    mutating func sample(_ adapters: [AdapterStatus], at now: MonotonicInstant) {
        var next: [String: [Sample]] = [:]
        for adapter in adapters {
            var kept = samples[adapter.name] ?? []
            // The scanner was replaced. The counters of the new one begin at zero.
            if let last = kept.last, last.reports > adapter.reports { kept = [] }
            next[adapter.name] = kept.suffix(Self.most - 1) + [Sample(instant: now, reports: adapter.reports)]
        }
        samples = next
    }

    /// - Parameter start: When counting began, for an adapter that was not sampled yet.
    func perSecond(_ adapter: AdapterStatus, since start: MonotonicInstant, at now: MonotonicInstant) -> Double {
        let first = samples[adapter.name]?.first ?? Sample(instant: start, reports: 0)
        guard adapter.reports >= first.reports else { return 0 }
        let seconds = first.instant.duration(to: now).inSeconds
        return seconds > 0 ? Double(adapter.reports - first.reports) / seconds : 0
    }
}
