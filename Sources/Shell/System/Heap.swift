import CSystem

/// The memory that this process has allocated.
package enum Heap {
    /// Returns all pages that are not in use to the system. glibc itself returns the end of each thread's heap only, so one
    /// block that stays keeps everything below it. It takes milliseconds.
    package static func release() { malloc_trim(0) }
}
