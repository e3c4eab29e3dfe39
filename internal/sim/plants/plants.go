package main

// plant is a bug to be planted: in a file, a text that stands there once is replaced.
type plant struct {
	name, file, old, new string
}

// plants are the bugs. The first five were once caught by nothing.
func plants() []plant {
	return []plant{
		{"one-shot timers lost on offload", "space/timer.go",
			"		r.timers = append(r.timers, t)\n	}\n}",
			"		if t.every > 0 {\n			r.timers = append(r.timers, t)\n		}\n	}\n}"},
		{"saves not carried on offload", "space/cell_parts.go",
			"	r.dataTold, r.saves = rd.Uvarint(), rd.Uvarint()\n",
			"	r.dataTold = rd.Uvarint()\n	rd.Uvarint()\n"},
		{"space data loaded by key", "space/data.go",
			"return cmp.Compare(a.Number, b.Number) })",
			"return cmp.Compare(a.Key, b.Key) })"},
		{"flows of others forgotten at a restore", "space/cell_parts.go",
			"					r.flows[i].out = entity.Out{}\n",
			"					r.flows[i].out = entity.Out{}\n					if r.flows[i].id != r.e.ID {\n						r.flows[i].in = entity.In{}\n					}\n"},
		{"move number lost on offload", "space/cell_parts.go",
			"	r.session, r.clientSeq = rd.U32(), rd.U32()\n",
			"	r.session = rd.U32()\n	rd.U32()\n"},
	}
}
