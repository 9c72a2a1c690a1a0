import Base

/// What to do when the bus, or a service of it, refuses.
package enum BusRefusal {
    /// What a person can do about a refusal that does not come from the service itself.
    ///
    /// - Parameter text: The error's name and words, such as `BusMessage.errorText`.
    /// - Returns: nil if the bus has not refused.
    package static func remedy(_ text: String) -> String? {
        if text.hasPart("AppArmor") {
            return "allow 'dbus' in the AppArmor profile that confines this program, or, in a container of Docker: "
                + "--security-opt apparmor=unconfined"
        }
        if text.hasPart("SELinux") {
            return "allow it in SELinux's policy; the denial is in: ausearch -m USER_AVC"
        }
        guard text.hasPart("AccessDenied") || text.hasPart("Permission denied") else { return nil }
        return "let this user send it, by a policy in /etc/dbus-1/system.d, or run the command with sudo"
    }

    /// Why there is no connection to the system bus, and what to do.
    ///
    /// - Parameter reason: What the kernel, libdbus or the bus says.
    static func connection(_ reason: String) -> String {
        if let remedy = remedy(reason) { return "the D-Bus system bus refuses this program (\(reason)); \(remedy)" }
        return "no D-Bus system bus (\(reason)); install and start dbus; a container needs -v /run/dbus:/run/dbus:ro"
    }
}
