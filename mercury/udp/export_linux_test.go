package udp

// Singly makes s use the calls that a system without batches has.
func (s *Socket) Singly() {
	s.out.singly()
	s.in.singly()
}
