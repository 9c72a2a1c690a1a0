import Tools

CommandLineProgram.run()
