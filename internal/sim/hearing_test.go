package sim

import "testing"

// TestHearing: the numbers of one cell part come in order, each once. Only a cell part that was
// restored from a copy says again what an older one said, from where the base had heard of that
// one.
func TestHearing(t *testing.T) {
	type say = [3]uint32 // from, life, n
	for name, c := range map[string]struct {
		heard []say
		next  say
		want  bool
	}{
		"first":                            {nil, say{1, 1, 1}, true},
		"first left out":                   {nil, say{1, 1, 2}, false},
		"next":                             {[]say{{1, 1, 4}}, say{1, 1, 5}, true},
		"twice":                            {[]say{{1, 1, 4}}, say{1, 1, 4}, false},
		"left out":                         {[]say{{1, 1, 4}}, say{1, 1, 6}, false},
		"of a life to come":                {[]say{{1, 1, 4}}, say{1, 2, 1}, false},
		"restored from a backup":           {[]say{{1, 1, 4}}, say{2, 2, 1}, true},
		"restored, the first left out":     {[]say{{1, 1, 4}}, say{2, 2, 2}, false},
		"tail of a copy":                   {[]say{{1, 1, 4}}, say{2, 1, 5}, true},
		"tail of a copy, the first twice":  {[]say{{1, 1, 4}}, say{2, 1, 4}, false},
		"tail of a copy, left out":         {[]say{{1, 1, 4}}, say{2, 1, 6}, false},
		"behind the tail":                  {[]say{{1, 1, 4}, {2, 1, 5}}, say{2, 2, 1}, true},
		"the tail once more from the same": {[]say{{1, 1, 4}, {2, 1, 5}}, say{2, 1, 5}, false},
		"the tail again":                   {[]say{{1, 1, 4}, {2, 1, 5}, {2, 1, 6}, {2, 2, 1}}, say{3, 1, 5}, true},
		"the tail again, more than that":   {[]say{{1, 1, 4}, {2, 1, 5}, {2, 1, 6}, {2, 2, 1}}, say{3, 1, 4}, false},
		"the tail again, from its middle":  {[]say{{1, 1, 4}, {2, 1, 5}, {2, 1, 6}, {2, 2, 1}}, say{3, 1, 6}, false},
		"goes on where the last ended":     {[]say{{1, 1, 4}, {2, 1, 5}, {2, 1, 6}}, say{3, 1, 7}, true},
		"tail of one that died unheard":    {[]say{{1, 1, 4}}, say{3, 2, 1}, true},
		"of one before":                    {[]say{{1, 1, 4}, {2, 2, 1}}, say{1, 1, 5}, false},
		"a life that was heard of anew":    {[]say{{1, 1, 4}, {2, 2, 7}}, say{3, 2, 1}, false},
	} {
		var h hearing
		for _, s := range c.heard {
			h.take(s[0], s[1], s[2])
		}
		if got := h.take(c.next[0], c.next[1], c.next[2]); got != c.want {
			t.Errorf("%s: %v after %v: %v", name, c.next, c.heard, got)
		}
	}
}
