/// The constants of `Transition`: how a belief changes from one window to the next.
package struct TransitionTuning: Hashable, Sendable {
    /// Mean seconds between room changes of a tag that moves.
    package var staySeconds: Float = 30
    /// Mean time until the next room change, as a share of the time since the last one: a resting tag tends to keep resting.
    package var stayShare: Float = 1
    /// Mean time until the next room change of a tag that lies still, as a share of the time since it last moved.
    package var restStayShare: Float = 10
    /// Upper limit of the mean, seconds.
    package var longestStaySeconds: Float = 86_400
    /// Number of known room changes at which they decide half of where a tag goes next.
    package var exitPrior: Float = 2
    /// Without labels, a window of a beacon slower than one a second counts as its interval in seconds, up to this: the body moves more
    /// between its packets than between those of a quick beacon.
    package var mostWindowSeconds: Float = 2
    /// After this many seconds in a room, half of what is above one second counts: a tag that lies still does not move between packets.
    package var freshStaySeconds: Float = 300
    /// A window of n packets has the weight n / (n + this): the level of one packet is less certain than the median of several.
    package var packetDoubt: Float = 0.25
    /// One window moves the log odds between two rooms by at most this.
    package var windowCap: Float = 8

    package init() {}
}
