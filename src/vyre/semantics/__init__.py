"""What each operation means, written once over any kind of word: integers, arrays, IR, solver terms."""
