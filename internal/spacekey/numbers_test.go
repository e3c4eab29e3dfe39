package spacekey

import "testing"

// Numbers of a term are above all that a lower one can have given, and those of the first begin at 1.
func TestBase(t *testing.T) {
	if Base(0) != 0 || Base(1) != 0 || Term(0) != 1 {
		t.Errorf("the first term begins at %d, none at %d", Base(1), Base(0))
	}
	const most = 1e6 * 365 * 24 * 3600 // a million changes a second for a year
	for term := uint32(1); term < 1<<8; term++ {
		if Base(term)+most >= Base(term+1) {
			t.Fatalf("terms %d and %d meet", term, term+1)
		}
		if Term(Base(term)) != term || Term(Base(term)+most) != term {
			t.Errorf("the term of the numbers of term %d is %d to %d", term, Term(Base(term)), Term(Base(term)+most))
		}
	}
}
