import CommandLine

CommandLineProgram.run()
