package import Base

/// Why the store cannot write.
package struct StoreFailure: Error, Hashable, Sendable {
    package let error: StoreError
    package let since: MonotonicInstant
    package let nextTry: MonotonicInstant
}
