package mercury

// SetMonitor has m told of every packet of a channel; nil for nobody.
func (e *Endpoint) SetMonitor(m Monitor) { e.monitor = m }

// SetFilter has f asked about every datagram that arrives; nil lets all pass.
func (e *Endpoint) SetFilter(f Filter) { e.filter = f }
