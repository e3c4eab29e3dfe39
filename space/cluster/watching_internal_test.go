package cluster

// Pretend makes an observer forget that it may only read, as one that cheats would.
func Pretend(o *Observer) { o.reads = false }
