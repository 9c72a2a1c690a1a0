func svg(_ panels: [Panel]) -> String { "" }
