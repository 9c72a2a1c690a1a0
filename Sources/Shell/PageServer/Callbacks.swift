import CMicroHTTPD

// Callbacks of the library. The library runs only on the loop's thread and only within calls of a living
// `StatusServer`, so the unretained context is always valid.

/// `MHD_AccessHandlerCallback`: called once after the headers, then for each part of the body, then once to answer.
@Sendable func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?, _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let url, let method, let uploadSize, let request else { return .NO }
    let server = Unmanaged<StatusServer>.fromOpaque(context).takeUnretainedValue()
    let (verb, path) = (String(cString: method), String(cString: url))
    guard let known = request.pointee else {
        if let refusal = server.refusal(connection, method: verb, path: path) { return refusal }
        let pending = PendingRequest(longestBody: StatusServer.longestBody(method: verb, path: path))
        request.pointee = Unmanaged.passRetained(pending).toOpaque()
        return .YES
    }
    let pending = Unmanaged<PendingRequest>.fromOpaque(known).takeUnretainedValue()
    if uploadSize.pointee > 0 {
        pending.append(UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee))
        uploadSize.pointee = 0
        return .YES
    }
    return server.answer(connection, method: verb, path: path, pending)
}

/// `MHD_RequestCompletedCallback`.
@Sendable func requestCompleted(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
    if let request, let known = request.pointee {
        Unmanaged<PendingRequest>.fromOpaque(known).release()
        request.pointee = nil
    }
    guard let context, let connection, let client = client(of: connection) else { return }
    let server = Unmanaged<StatusServer>.fromOpaque(context).takeUnretainedValue()
    if code == .REQUEST_TERMINATED_TIMEOUT_REACHED { server.countDrop() }
    client.stream = nil
    client.isIdle = true
    client.deadline = server.patienceFromNow
}

/// `MHD_NotifyConnectionCallback`.
@Sendable func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
    guard let context, let connection, let socketContext else { return }
    let server = Unmanaged<StatusServer>.fromOpaque(context).takeUnretainedValue()
    if code == .CONNECTION_NOTIFY_STARTED {
        let client = Client(descriptor: mhd_shim_socket(connection), deadline: server.patienceFromNow)
        socketContext.pointee = Unmanaged.passRetained(client).toOpaque()
        server.connected(client)
    } else if let known = socketContext.pointee {
        socketContext.pointee = nil
        server.disconnected(Unmanaged<Client>.fromOpaque(known).takeRetainedValue())
    }
}

func client(of connection: OpaquePointer) -> Client? {
    mhd_shim_socket_context(connection).map { Unmanaged<Client>.fromOpaque($0).takeUnretainedValue() }
}
