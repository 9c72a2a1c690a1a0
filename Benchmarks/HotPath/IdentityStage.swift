import AddressKeys
import Base
import Beacon
import CFloor
import Identities

/// A corpus, and a resolver that hears it. No address of the corpus fits a key, and no frame is named.
struct IdentityCourse {
    private let corpus: Corpus
    private var parser = AdvertisingReportParser()
    private var resolver = IdentityResolver()
    private(set) var found = 0
    /// The corpus is played again and again, and its time goes on: what is watched for some seconds only must end.
    private var elapsed: Int64 = 0

    init(_ corpus: Corpus, keys: Int) {
        self.corpus = corpus
        _ = resolver.setKeys((0..<keys).map { PhoneKey(IdentityKey(high: UInt64($0) + 1, low: 1 << 63)) })
    }

    mutating func run() -> floor_sum {
        var sum = floor_sum()
        let before = parser.reports
        defer { elapsed += Int64(corpus.span) }
        let corpus = corpus
        let elapsed = elapsed
        let bytes = corpus.bytes.span
        for event in corpus.events {
            let start = Int(event.offset)
            let now = MonotonicInstant(nanoseconds: elapsed + event.nanoseconds)
            let receiver = Receiver(index: UInt16(event.receiver))
            parser.parse(event: bytes.extracting(start..<start + Int(event.length))) { report, data in
                guard resolver.isOn else { return }
                if resolver.sender(of: report, data: data, by: receiver, at: now) != nil { found += 1 }
                if resolver.frame(in: data, of: report, by: receiver) != nil { found += 1 }
            }
        }
        sum.beacons = UInt64(found)
        sum.reports = parser.reports - before
        return sum
    }
}
