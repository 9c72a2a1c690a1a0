import Base
import CMosquitto
import Glibc
import System

extension Client {
    /// Applies all that has to be set before the first connection.
    static func apply(_ settings: BrokerSettings, to handle: OpaquePointer) throws(BrokerFailure) {
        mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, Int32(settings.protocolLevel.rawValue))
        mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
        mosquitto_int_option(handle, MOSQ_OPT_SEND_MAXIMUM, Int32(clamping: settings.limits.inFlight))
        if settings.username != nil || settings.password != nil {
            // MQTT 3.1.1 allows no password without a user name.
            mosquitto_username_pw_set(handle, settings.username ?? "", settings.password?.revealed)
        }
        if let will = settings.will { try apply(will, to: handle) }
        if let tls = settings.tls { try apply(tls, to: handle) }
    }

    /// Sets the will of the next connection. It takes the place of an earlier one.
    static func apply(_ will: BrokerSettings.Will, to handle: OpaquePointer) throws(BrokerFailure) {
        let result = will.payload.withUnsafeBytes { payload in
            mosquitto_will_set(
                handle, will.topic, Int32(clamping: payload.count), payload.baseAddress, Int32(will.qos.rawValue),
                will.retain)
        }
        guard result == MOSQ_ERR_SUCCESS.rawValue else {
            throw .settings("the will cannot be published to '\(will.topic)'")
        }
    }

    private static func apply(_ tls: BrokerSettings.TLS, to handle: OpaquePointer) throws(BrokerFailure) {
        // libmosquitto reports only "invalid" for a file that it cannot open, and waits for ever at a FIFO.
        for case let file? in [tls.caFile, tls.clientCertificateFile, tls.clientKeyFile] {
            let problem: String?
            do throws(FileError) { problem = try CertificateFile.problem(in: file) } catch {
                throw .settings("\(error)")
            }
            if let problem { throw .settings(problem) }
        }
        guard (tls.clientCertificateFile == nil) == (tls.clientKeyFile == nil) else {
            throw .settings("a client certificate needs its key, and a key its certificate")
        }
        // OpenSSL's places, with SSL_CERT_FILE and SSL_CERT_DIR.
        if tls.caFile == nil { mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1) }
        // Also named here, as the same directory: with a client certificate libmosquitto insists on a file or directory of
        // authorities, and 2.0.11 on a second connection of the handle does so in any case.
        let systemAuthorities = tls.caFile == nil ? systemDirectory : nil
        let result = mosquitto_tls_set(
            handle, tls.caFile, systemAuthorities, tls.clientCertificateFile, tls.clientKeyFile, refuseKeyPassword)
        guard result == MOSQ_ERR_SUCCESS.rawValue else {
            throw .settings("the certificate files cannot be used")
        }
    }

    /// Where OpenSSL looks for the system's authorities.
    private static var systemDirectory: String {
        let chosen = getenv("SSL_CERT_DIR").map { String(cString: $0) } ?? ""
        return chosen.isEmpty ? "/etc/ssl/certs" : chosen
    }

    /// Calls with the properties for CONNECT, if there are any; libmosquitto copies them.
    static func withConnectProperties<Result>(
        of settings: BrokerSettings, _ body: (OpaquePointer?) -> Result
    ) -> Result {
        var properties: OpaquePointer?
        if settings.protocolLevel == .v5 {
            // The broker drops larger messages (MQTT 5, section 3.1.2.11.4).
            mosquitto_property_add_int32(
                &properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue),
                UInt32(clamping: settings.limits.largestPacket))
            // MQTT 5 ends a session with its connection unless asked to keep it; 3.1.1 keeps it unless asked
            // not to. The largest number: it does not expire (MQTT 5, section 3.1.2.11.2).
            if !settings.cleanSession {
                mosquitto_property_add_int32(&properties, Int32(MQTT_PROP_SESSION_EXPIRY_INTERVAL.rawValue), .max)
            }
        }
        defer { mosquitto_property_free_all(&properties) }
        return body(properties)
    }

    /// The reason of a TLS failure, from the most exact source.
    var tlsProblem: String {
        if sink.complaints.contains(where: { $0.hasPart("host name verification failed") }) {
            return "the broker's certificate is not for this host name"
        }
        if let problem = sink.certificateProblem { return "the broker's certificate: \(problem)" }
        // "error:0A000086:SSL routines::certificate verify failed" and the like: the words after the codes.
        guard let first = sink.complaints.first else { return "no reason given" }
        return first.split(separator: ":").last.map(String.init) ?? first
    }
}

/// Without this, OpenSSL asks for the password of an encrypted key on the terminal and waits for ever.
private func refuseKeyPassword(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { 0 }
