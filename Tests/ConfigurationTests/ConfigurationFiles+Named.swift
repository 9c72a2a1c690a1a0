import Base
import Configuration

extension ConfigurationFiles {
    /// Every file is there, and its first line is `in PATH`.
    static var named: ConfigurationFiles { ConfigurationFiles { Secret("in \($0)") } }
}
