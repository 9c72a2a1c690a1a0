import Base
import JSON
package import Regions

extension Region {
    /// Why the region is not what its author may expect: no beacon enters it. nil for a beacon region, and for a circle
    /// without a UUID.
    package var remark: String? {
        switch kind {
        case .beacon: nil
        case .circular where description.pattern != nil:
            "rad is above 0, so this is a circle and its UUID is not listened for"
        case .follow where description.pattern != nil:
            "its name begins with '+', so this is a moving circle and its UUID is not listened for"
        case .circular, .follow: nil
        case .plain: "it has neither a UUID nor a radius, so nothing enters or leaves it" + misspelling
        }
    }

    /// The members whose spelling is the reason, such as `UUID`, in words; empty if there are none.
    private var misspelling: String {
        guard !extensionMembers.isEmpty else { return "" }
        let meant = ["uuid", "rad", "desc"]
        let names = extensionObject.keys.sorted().filter { meant.contains($0.lowercased()) }
        return names.map { "; its '\($0.shortened)' is written '\($0.lowercased())'" }.joined()
    }
}
