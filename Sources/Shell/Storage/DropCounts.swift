package import Base

/// Data dropped because of a limit, by kind.
package struct DropCounts: Hashable, Sendable {
    package var locations: UInt64 = 0
    package var states: UInt64 = 0
    package var others: UInt64 = 0
    package var transitions: UInt64 = 0
    package var history: UInt64 = 0

    package init() {}

    package var total: UInt64 { locations + states + others + transitions + history }

    package mutating func count(_ kind: Publication.Kind, _ number: Int = 1) {
        switch kind {
        case .transition: transitions += UInt64(number)
        case .location, .ping: locations += UInt64(number)
        case .state: states += UInt64(number)
        case .other, .transient: others += UInt64(number)
        }
    }

    package static func + (lhs: DropCounts, rhs: DropCounts) -> DropCounts {
        var sum = lhs
        sum.locations += rhs.locations
        sum.states += rhs.states
        sum.others += rhs.others
        sum.transitions += rhs.transitions
        sum.history += rhs.history
        return sum
    }
}

extension DropCounts: CustomStringConvertible {
    package var description: String {
        [
            (locations, "locations"), (states, "states"), (others, "other messages"), (transitions, "transitions"),
            (history, "history entries"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
