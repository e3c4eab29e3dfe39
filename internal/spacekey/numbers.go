package spacekey

// shift leaves a CellAppMgr 48 bits for the changes of one space's data: a million of them a second
// for nine years.
const shift = 48

// Base is below the numbers that a CellAppMgr of this term gives to changes of a space's data, and
// above those of all lower terms. A restarted manager does not know what apps were told that it has
// not heard from. If it used a number twice, those that saw the first change would take the second
// for old.
func Base(term uint32) uint64 { return uint64(max(term, 1)-1) << shift }

// Term is that of the manager that gave a number, or whose Base it is.
func Term(number uint64) uint32 { return uint32(number>>shift) + 1 }
