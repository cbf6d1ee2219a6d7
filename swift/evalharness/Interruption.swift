import Foundation

/// Ends the driver, and with it the programs that it started, on the signals that end programs.
///
/// The handler only tells a thread, as hardly anything is allowed in it. A handler, unlike a signal that is ignored, is not
/// inherited by children: they can be ended, whatever started the driver.
enum Interruption {
    private static let told = Pipe()
    private static let telling = told.fileHandleForWriting.fileDescriptor

    static func endsTheDriver() {
        _ = telling
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                var byte = UInt8(number)
                _ = write(Interruption.telling, &byte, 1)
            }
        }
        Thread.detachNewThread {
            // Whoever started the driver may have blocked them.
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            if let byte = told.fileHandleForReading.readData(ofLength: 1).first { exit(128 + Int32(byte)) }
        }
    }
}
