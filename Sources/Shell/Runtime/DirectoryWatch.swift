import CSystemd
import Glibc
package import System

/// Reports when a process closes a file in a directory that it had open for writing, and when a file leaves the directory,
/// for the life of this object. Files of this program count too.
package final class DirectoryWatch {
    private let loop: EventLoop
    private var source: OpaquePointer?
    fileprivate let handler: () -> Void

    /// - Parameter handler: Called once for each such event.
    /// - Throws: ENOSPC where the user's inotify watches are used up; ENOENT for a missing directory.
    package init(loop: EventLoop, path: String, _ handler: @escaping () -> Void) throws(SystemError) {
        self.loop = loop
        self.handler = handler
        let context = Unmanaged.passUnretained(self).toOpaque()
        try checked(
            "sd_event_add_inotify",
            sd_event_add_inotify(
                loop.handle, &source, path,
                UInt32(IN_CLOSE_WRITE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_ONLYDIR), fileChanged,
                context))
    }

    deinit { sd_event_source_disable_unref(source) }
}

private func fileChanged(
    _ source: OpaquePointer?, _ event: UnsafePointer<inotify_event>?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<DirectoryWatch>.fromOpaque(context).takeUnretainedValue().handler()
    return 0
}
