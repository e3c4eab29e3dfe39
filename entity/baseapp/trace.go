package baseapp

// traced reports whether the steps of the base's life are logged.
func (b *base) traced() bool { return b.app.trace.Of(b.id) }

// step logs one of them. Ask traced first: what is said costs something.
func (b *base) step(step string, more ...any) {
	a := b.app
	a.trace.Step(a.now+a.shift, b.id, b.props.Definition().Name, b.link.Order(), step, more...)
}

// traceEnd logs that the base is no more here, and why.
func (b *base) traceEnd() {
	switch {
	case !b.traced():
	case b.aside:
		b.step("base moved out", "to", b.app.moving.part.To)
	default:
		b.step("base destroyed")
	}
}

// traceRestored logs that the base goes on here.
func (b *base) traceRestored(h *heritage) {
	if b.traced() {
		b.step("base restored", "from", h.from, "life", b.life())
	}
}
