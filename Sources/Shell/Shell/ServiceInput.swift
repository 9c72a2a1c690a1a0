package import Base

/// The inputs that `App` itself makes for any core.
package protocol ServiceInput {
    /// Time passed, and everything that was ready before was handled.
    static var tick: Self { get }
    /// State may be stored now, although nothing was decided.
    static var checkpoint: Self { get }
    /// The service is about to end.
    static var stopping: Self { get }
    /// The store gave up a write.
    static var writeLost: Self { get }
    /// The store uses another file, which may lack anything.
    static var stateLost: Self { get }
    /// The machine was suspended for this long, up to now.
    static func absent(_ duration: Duration) -> Self
    /// The wall clock was set or changed.
    static func wallClock(_ clock: WallClock) -> Self
}
