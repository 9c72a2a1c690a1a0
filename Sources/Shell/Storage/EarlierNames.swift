package import Base
package import Regions

// Names that the shell and the rooms service still use.

package typealias HistoryEntry = PastTransition
package typealias WallClockReading = WallClock

extension WallClock {
    package init(epochNanosecondsAtBoot offset: Int64) { self.init(epochOffset: offset, isKnown: true) }
}
