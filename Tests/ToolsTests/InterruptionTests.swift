import Glibc
import Runtime
import Testing

@testable import Tools

@Suite struct InterruptionTests {
    @Test(arguments: Interruption.signals)
    func `A signal that comes while a command listens is an event, and is not blocked afterwards`(number: Int32) throws
    {
        do {
            let loop = try EventLoop()
            let interruption = try Interruption(loop)
            #expect(interruption.signal == nil)
            // To this thread: the test runner has others that do not block it.
            pthread_kill(pthread_self(), number)
            _ = try loop.step(timeout: .seconds(1))
            #expect(interruption.signal == number)
        }
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        #expect(sigismember(&blocked, number) == 0)
    }
}
