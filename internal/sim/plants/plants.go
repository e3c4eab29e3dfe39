package main

// plant is a bug to be planted: a text that stands once in a file is replaced.
type plant struct {
	name, file, old, new string
}

// plants lists the bugs. At first, nothing caught the first five.
func plants() []plant {
	all := []plant{
		{"one-shot timers lost on offload", "internal/script/timers.go",
			"		before = x.id\n		t.list = append(t.list, x)\n",
			"		before = x.id\n		if x.every > 0 {\n			t.list = append(t.list, x)\n		}\n"},
		{"saves not carried on offload", "space/cell_parts.go",
			"	r.dataTold, r.saves = rd.Uvarint(), rd.Uvarint()\n",
			"	r.dataTold = rd.Uvarint()\n	rd.Uvarint()\n"},
		{"space data loaded by key", "space/data.go",
			"return cmp.Compare(a.Number, b.Number) })",
			"return cmp.Compare(a.Key, b.Key) })"},
		{"flows of others forgotten at a restore", "space/cell_flows_carried.go",
			"		r.readPatience(rd, p)\n		p.cause, p.turn, p.upload = rd.Uvarint(), fields.ReadUint32(rd), rd.Uvarint()\n",
			"		r.readPatience(rd, p)\n		p.cause, p.turn, p.upload = rd.Uvarint(), fields.ReadUint32(rd), rd.Uvarint()\n		if restoring && id != r.e.ID {\n			p.in, p.cause, p.upload = flow.Receiver{}, 0, 0\n		}\n"},
		{"move number lost on offload", "space/cell_parts.go",
			"	r.session.Read(rd)\n	r.clientSeq = rd.U32()\n",
			"	r.session.Read(rd)\n	rd.U32()\n"},
	}
	all = append(all, travelling()...)
	all = append(all, ghosts()...)
	all = append(all, restores()...)
	all = append(all, calls()...)
	all = append(all, teleports()...)
	all = append(all, driving()...)
	all = append(all, riding()...)
	all = append(all, sessions()...)
	all = append(all, transitions()...)
	all = append(all, departures()...)
	all = append(all, elections()...)
	all = append(all, gateways()...)
	all = append(all, stops()...)
	all = append(all, managers()...)
	all = append(all, ensured()...)
	return append(all, views()...)
}

// views lists bugs in what scripts set of how clients see.
func views() []plant {
	return []plant{
		{"how far a client sees is settable on its first cell only", "space/real_aoi.go",
			"	radius, hysteresis = r.AoI()\n	r.cell.ranges.SetRange(r.trigger, radius, radius+hysteresis)\n	return nil\n",
			"	if radius, hysteresis = r.AoI(); r.Order().Hop == 0 {\n		r.cell.ranges.SetRange(r.trigger, radius, radius+hysteresis)\n	}\n	return nil\n"},
		{"who was added is not met on the next cell", "space/cell_sight.go",
			"	r.cell.adders.add(r)\n	for id := range r.witness.AllAdded() {\n",
			"	r.cell.adders.add(r)\n	for id := range r.witness.AllAdded() {\n		if r.Order().Hop > 0 {\n			break\n		}\n"},
		{"what is big has ghosts no farther than others", "space/border.go",
			"	return r.cell.cfg.Border.GhostDistance + float64(r.e.Def.AppealRadius)\n",
			"	return r.cell.cfg.Border.GhostDistance\n"},
		{"a trap forgets on the way of whom it has told", "space/trap.go",
			"		t.inside, last = append(t.inside, id), id\n",
			"		last = id\n"},
		{"a trap does not see on its next cell who has gone", "space/trap.go",
			"			for _, id := range slices.Clone(x.Controller.(*trap).inside) {\n",
			"			for _, id := range slices.Clone(x.Controller.(*trap).inside[:0]) {\n"},
		{"a move that the game refuses is made", "space/steering.go",
			"	if ok {\n		// It is finite",
			"	if ok || at == to {\n		// It is finite"},
		{"a kick gives no reason", "entity/baseapp/relogin.go",
			"		c.refuse(protocol.Kicked, reason)\n",
			"		c.refuse(protocol.Kicked, \"\")\n"},
	}
}

// calls lists bugs in how scripts call each other.
func calls() []plant {
	return []plant{
		{"a restored sender's stream is all new", "entity/flow/receiver.go",
			"		*in = Receiver{stream: stream, former: in.handled(), spoken: in.spoken}\n",
			"		*in = Receiver{stream: stream}\n"},
		{"calls that a message has caused twice are handled twice", "entity/flow/call.go",
			"	return m.Cause == 0 || m.Cause > cause || m.Cause == cause && m.Turn > turn\n",
			"	return true\n"},
		{"one call of a message is like the next", "entity/flow/call.go",
			"	return m.Cause == 0 || m.Cause > cause || m.Cause == cause && m.Turn > turn\n",
			"	return m.Cause == 0 || m.Cause > cause\n"},
		{"requests lost on offload", "internal/script/requests.go",
			"		t.list = append(t.list, x)\n",
			""},
		{"calls to be answered lost on offload", "space/cell_parts.go",
			"			r.owed.Read(&rd, r.Now())\n",
			"			none := r.owed\n			r.owed.Read(&rd, r.Now())\n			r.owed = none\n"},
		{"a cell part that was answered for is still asked for", "entity/baseapp/creation.go",
			"	b.creation = nil\n	if b.hears() {\n",
			"	if b.hears() {\n"},
		{"a copy of a base forgets which request it was", "entity/baseapp/pending.go",
			"	c.Varint(&p.user)\n",
			""},
		{"a call that ends its target is refused", "space/cell_flows.go",
			"		r.ack(end)\n		x := end.in.LastWord(end.id, end.side)\n",
			"		x := flow.LastWord{}\n"},
		{"no time-outs", "internal/script/requests.go",
			"	if t.due = t.list[first].Due; now < t.due {\n",
			"	if t.due = t.list[first].Due; now < t.due || true {\n"},
		{"what a base has left to send is forgotten", "entity/baseapp/talk.go",
			"		case t.out.Kept() == 0:\n		case len(a.talking.departed)",
			"		case true:\n		case len(a.talking.departed)"},
	}
}

// teleports lists bugs in how entities go elsewhere.
func teleports() []plant {
	return []plant{
		{"a teleport lost on offload", "space/teleport.go",
			"		r.teleport = t\n	}\n}",
			"	}\n}"},
		{"a base is not told how its teleport ended", "space/teleport.go",
			"	t.user, t.request = rd.Varint(), rd.Uvarint()\n",
			"	t.user = rd.Varint()\n	rd.Uvarint()\n"},
		{"a refused real is told that it has arrived", "space/population_teleports.go",
			"	a := arrival{refused: no, toldEnd: h.ToldEnd}\n",
			"	a := arrival{toldEnd: h.ToldEnd}\n	_ = no\n"},
	}
}

// driving lists bugs in how clients move the entities of others.
func driving() []plant {
	return []plant{
		{"a client keeps what it no longer moves", "space/charges.go",
			"		if ch.told {\n",
			"		if false {\n"},
		{"a new charge is not told", "space/charges.go",
			"		r.charges = slices.Insert(r.charges, i, charge{id: e.ID, incarnation: e.Order.Incarnation})\n",
			"		r.charges = slices.Insert(r.charges, i, charge{id: e.ID, incarnation: e.Order.Incarnation, told: true, number: e.Control.Number})\n"},
	}
}

// sessions lists bugs in how a client goes on after it has lost its channel.
func sessions() []plant {
	return []plant{
		{"a resumed session lacks a message", "entity/baseapp/seat.go",
			"return number > has[stream] })",
			"return number > has[stream]+1 })"},
		{"a resumed session says a call twice", "entity/client/resume.go",
			"		if !ok || number > m.Handled {\n",
			"		if !ok || number >= m.Handled {\n"},
		{"a resumed session forgets what waits", "entity/client/resume.go",
			"	l.uploads.Rewind()\n",
			""},
	}
}

// travelling lists bugs in what a real takes along.
func travelling() []plant {
	return []plant{
		{"forced number lost on offload", "space/steering.go",
			"	s.number = fields.ReadUint32(rd)\n",
			"	fields.ReadUint32(rd)\n"},
		{"strides begin again on offload", "space/steering.go",
			"	s.stride.read(rd)\n",
			"	var was stride\n	was.read(rd)\n"},
		{"controllers lost on offload", "space/controller.go",
			"		before = c.id\n		r.controllers.list = append(r.controllers.list, c)\n",
			"		before = c.id\n"},
		{"a controller forgets what its script gave along", "space/controller.go",
			"		c.method, c.user = rd.String(script.MaxName), rd.Varint()\n",
			"		c.method = rd.String(script.MaxName)\n		rd.Varint()\n"},
		{"a controller of the game forgets a field", "internal/sim/metronome.go",
			"	m.Swings = r.Uvarint()\n",
			"	r.Uvarint()\n"},
		{"walks forget their speed", "space/internal/gait/gait.go",
			"	g.Acceleration, g.Speed, g.owed = rd.F32(), rd.F32(), rd.F32()\n",
			"	g.Acceleration, _, g.owed = rd.F32(), rd.F32(), rd.F32()\n"},
		{"timer ids begin again", "internal/script/timers.go",
			"	var before entity.CallbackID\n	for range r.Count(limits.Timers",
			"	var before entity.CallbackID\n	defer func() { t.last = before }()\n	for range r.Count(limits.Timers"},
		{"periodic timers not cancelled", "internal/script/timers.go",
			"	if i < 0 {\n		return false\n",
			"	if i < 0 || t.list[i].every > 0 {\n		return false\n"},
		{"periods missed", "internal/script/timers.go",
			"gametime.Again(x.due, x.every, now)",
			"gametime.Again(x.due, 2*x.every, now)"},
		{"time of timers begins again on offload", "space/real_clock.go",
			"	r.timers.Shift(late)\n",
			"	r.timers.Shift(-maxAhead)\n"},
		{"what was to be told lost on offload", "space/cell_parts.go",
			"	r.direct = append([]byte(nil), rd.Bytes(migrate.MaxParts)...)\n",
			"	rd.Bytes(migrate.MaxParts)\n"},
		{"haunts lost on offload", "ghost/haunt.go",
			"		h.SetWatched(app, watched)\n	}\n",
			"		h.SetWatched(app, watched)\n	}\n	h.list = nil\n"},
		{"witness forgets what it called", "aoi/witness/codec.go",
			"	b = binary.AppendUvarint(b, uint64(a.heard))\n",
			"	b = binary.AppendUvarint(b, 0)\n"},
		{"what has rested is not told for sure", "aoi/witness/news.go",
			"l.have == 0 || en.a.s.rested(k) || ",
			"l.have == 0 || "},
		{"bundle numbers begin again", "aoi/witness/codec.go",
			"	b = binary.AppendUvarint(b, w.number)\n",
			"	b = binary.AppendUvarint(b, 0)\n"},
		{"handoffs not sent again", "space/population_handoffs.go",
			"			p.env.Out.Send(h.To, &h.Onload)\n",
			""},
	}
}

// ghosts lists bugs of copies.
func ghosts() []plant {
	return []plant{
		{"ghosts take older hops", "ghost/ghost.go",
			"	if c := h.Order.Compare(g.Entity.Order); c != 0 {\n		return c < 0\n	}\n	return h.Sequence <= g.sequence\n",
			"	return h.Order.Incarnation < g.Entity.Order.Incarnation\n"},
		{"tombstones forbid nothing", "ghost/tombstone.go",
			"	return s != nil && !s.before(h)\n",
			"	return s != nil && !s.before(h) && h.Sequence == 0\n"},
		{"the origin is no haunt", "space/cell_offload.go",
			"	had := r.haunts.Remove(to)\n	r.haunts.Add(c.self, c.now)\n",
			"	had := r.haunts.Remove(to)\n"},
		{"ghosts not told of a new hop", "space/real_arrival.go",
			"	r.showAll()\n	r.hauntsKnow()\n",
			"	r.ghostedStamp = r.e.MoveStamp\n"},
		{"handed on and forgotten", "space/population_handoffs.go",
			"	p.handedOn = append(p.handedOn, handedOn{",
			"	_ = append(p.handedOn, handedOn{"},
		{"an event told twice", "space/real_changes.go",
			"	n := r.e.History.Add(method, args)\n",
			"	r.e.History.Add(method, args)\n	n := r.e.History.Add(method, args)\n"},
		{"reals outlive their BaseApp", "space/heirs.go",
			"		if heir.IsZero() {\n			c.drop(rec.real)\n",
			"		if heir.IsZero() {\n"},
	}
}

// riding lists bugs of vehicles.
func riding() []plant {
	return []plant{
		{"whoever rides stays behind", "space/cell.go",
			"	c.carry()\n",
			""},
		{"rides do not travel", "space/cell_parts.go",
			"	if r.e.Ride.Stamp != 0 {\n",
			"	if backup && r.e.Ride.Stamp != 0 {\n"},
		{"rides are not backed up", "space/cell_parts.go",
			"	if r.e.Ride.Stamp != 0 {\n",
			"	if !backup && r.e.Ride.Stamp != 0 {\n"},
		{"a client is not told that a vehicle has left its riders", "aoi/witness/ride.go",
			"	return aboard, false\n",
			"	return aboard && v.Vehicle == 0, aboard\n"},
		{"a client is not told of another seat", "aoi/witness/update.go",
			"			s, rest = en.course(), dueRide\n",
			"			return t\n"},
		{"ghosts do not hear of rides", "ghost/ghost.go",
			"	e.Control, e.Ride = m.Control, m.Ride\n",
			"	e.Control = m.Control\n"},
	}
}

// restores lists bugs in what comes back from a backup, and in who decides.
func restores() []plant {
	return []plant{
		{"timers not backed up", "space/cell_parts.go",
			"	b = migrate.AppendPart(b, migrate.TimersPart, func(b []byte) []byte { return r.timers.Append(b, r.Now()) })\n",
			"	if !backup {\n		b = migrate.AppendPart(b, migrate.TimersPart, func(b []byte) []byte { return r.timers.Append(b, r.Now()) })\n	}\n"},
		{"controllers not backed up", "space/cell_parts.go",
			"	b = migrate.AppendPart(b, migrate.ControllersPart, r.appendControllers)\n",
			"	if !backup {\n		b = migrate.AppendPart(b, migrate.ControllersPart, r.appendControllers)\n	}\n"},
		{"flow not wound back", "entity/baseapp/celllink.go",
			"	l.out.Rewind(l.out.Known(l.copy.Handled, l.life))\n",
			""},
		{"older hops believed", "entity/baseapp/celllink.go",
			"l.state == linkLocating || c < 0 || order.Incarnation",
			"l.state == linkLocating || order.Incarnation"},
		{"refusals not heeded", "space/cell_entities.go",
			"\tc.drop(rec.real)\n\tif !rival",
			"\tif !rival"},
		{"accounts stay locked", "entity/baseapp/base.go",
			"		b.app.baseMgr.Send(&wire.ProxyGone{Account: b.account, ID: b.id})\n",
			"		_ = &wire.ProxyGone{Account: b.account, ID: b.id}\n"},
		{"accounts not locked while made", "entity/baseappmgr/accounts.go",
			"	m.accounts[a.name] = a\n	on.proxies++\n",
			"	on.proxies++\n"},
		{"a panic keeps the real", "space/script.go",
			"	case staying:\n		r.depart(lost, fmt.Sprintf(\"panic in %s: %v\", what, p))\n",
			"	case staying:\n		if what != \"OnEnteredCell\" {\n			r.depart(lost, fmt.Sprintf(\"panic in %s: %v\", what, p))\n		}\n"},
	}
}

// managers lists bugs between the CellAppMgr and CellApps.
func managers() []plant {
	return []plant{
		{"geometries of older terms obeyed", "bsp/id.go",
			"{ return CellID(v).Compare(CellID(o)) }",
			"{ return cmp.Compare(v.N, o.N) }"},
		{"cells removed with reals in them", "space/cellapp/removal.go",
			" || len(r.waiting) > 0 || !c.Idle() {",
			" || len(r.waiting) > 0 {"},
		{"newcomers are told of no deaths", "space/cellappmgr/members.go",
			"	m.welcome(now, a)\n	m.tellGraves(a, nil)\n	m.tellMembers(a)\n",
			"	m.welcome(now, a)\n	m.tellMembers(a)\n"},
		{"CellApps that have left are believed in", "space/cellappmgr/removal.go",
			"	if !m.expects(msg.App) {",
			"	if m.expects(msg.App) {"},
		{"a handoff ahead of the geometry goes back", "space/cell_offload.go",
			"	if c.tree.Version().Less(r.decided) {",
			"	if false {"},
		{"retiring cells keep those who stand near", "space/cell_offload.go",
			"	if c.retiring() || !rect.Keeps(",
			"	if !rect.Keeps("},
	}
}

// transitions lists bugs in how a view goes along.
func transitions() []plant {
	return []plant{
		{"companions dropped", "space/arrival.go",
			"r.witness.Carry(a.with, ",
			"r.witness.Carry(nil, "},
		{"companions dropped on the way to another app", "space/party.go",
			"arrival{to: places[i], at: m.List[i].Arrival.From, with: with}",
			"arrival{to: places[i], at: m.List[i].Arrival.From, with: with[i : i+1]}"},
	}
}

// departures lists bugs in how bases come to other BaseApps.
func departures() []plant {
	return []plant{
		{"a BaseApp leaves before its last copies are held", "entity/baseapp/leave.go",
			"	if l.state != leaveStill || !a.cellMgr.Heeds() || l.next < len(a.list) || !a.allHeld() || len(a.stubs.list) > 0 {\n",
			"	if l.state != leaveStill || !a.cellMgr.Heeds() || l.next < len(a.list) || len(a.stubs.list) > 0 {\n"},
		{"the names of a base that has ended are free before its holders know", "entity/baseapp/base.go",
			"	if !held || !b.app.leaveStub(b) {\n",
			"	if held || !held {\n"},
		{"a restored base lives its former life", "entity/baseapp/stream.go",
			"	life := former + lifeGap*h.lives\n",
			"	life := former\n"},
		{"a base that has panicked answers the call all the same", "entity/baseapp/call.go",
			"results.Later() || b.aside {",
			"results.Later() {"},
		{"the next life of a base that has panicked knows of no later cell part", "entity/baseapp/restart.go",
			"	b.link.knows(&of.link)\n",
			""},
		{"lives that were passed over are not counted", "entity/baseapp/holding.go",
			"lives: uint32(1 + left.Passed),",
			"lives: uint32(1 + 0*passed),"},
	}
}

// elections lists bugs in how managers vote.
func elections() []plant {
	return []plant{
		{"a manager votes for two terms at once", "space/cellappmgr/election.go",
			"		(m.Term > e.vote.term && (free || bound) ||",
			"		(m.Term > e.vote.term && (free || bound || true) ||"},
		{"a manager votes at once after its start", "space/cellappmgr/election.go",
			"{ return e.begun && now-e.began >= LeaseTime }",
			"{ return e.begun }"},
		{"an app is believed whatever term it claims", "space/cellappmgr/claims.go",
			"	if costs := term - own + 1; x.alone",
			"	if costs := uint32(0); x.alone"},
	}
}

// gateways lists bugs in what is seen through gateways.
func gateways() []plant {
	return []plant{
		{"images do not follow", "space/image.go",
			"		c.ranges.Move(img.node, at.X, at.Z)\n",
			""},
		{"an image wins over its entity", "space/image.go",
			"	if r.inSight(rec) {\n		return &rec.seen\n	}\n	if len(rec.images) == 0",
			"	if r.inSight(rec) && len(rec.images) == 0 {\n		return &rec.seen\n	}\n	if len(rec.images) == 0"},
	}
}

// ensured lists bugs in how there comes to be one entity of a kind.
func ensured() []plant {
	return []plant{
		{"an entity is made before its name is given", "entity/baseapp/ensure.go",
			"	e.state, e.id = ensureClaiming, id\n",
			"	e.state, e.id = ensureHolding, id\n"},
		{"who has found an entity elsewhere looks no more", "entity/baseapp/ensure.go",
			"		e.rest(a.now + ensureAgain)\n		a.tellEnsured(",
			"		e.rest(a.now + ensureAgain)\n		e.ended = true\n		a.tellEnsured("},
	}
}
