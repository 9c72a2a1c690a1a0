/// The times that decide presence, each with its reason.
package enum PresenceTiming {
    /// Listening silence before leave. Peers settle at 30 to 180 s; users of 10 to 30 s complain of
    /// false leaves, users of 180 s of late ones.
    package static let leaveAfter: Duration = .seconds(60)
    /// What a leading `-` in a region's name makes of the hold: OwnTracks asks for "longer" and gives
    /// no number.
    package static let longerHoldFactor = 2
}
