package import Gateway

/// A service's link to the file of the keys of phones: the service does not wait for the disk.
package protocol PhoneKeyLink: AnyObject {
    /// Stores a change, and calls `done` on the caller's thread, at once if no thread can be started. The caller must not give another
    /// change before that.
    func store(_ change: PhoneKeyChange, in directory: String, _ done: @escaping (PhoneKeyOutcome) -> Void)
    /// Waits for the change that is being stored, for its `done`, and for changes that follow from it.
    ///
    /// - Returns: false if the disk takes longer than `limit`.
    func finish(within limit: Duration) -> Bool
}
