package status

// Saving is how much a CellApp saves because it has too much work: each a share, 1 for all. It saves in
// this order, and comes back in the reverse: see package overload. Before that, logins are refused
// (World.LoginsRefused).
type Saving struct {
	Budget float64 `json:"budget"` // of its bytes that each client is sent
	Detail float64 `json:"detail"` // of the distances within which clients are sent details
	Rate   float64 `json:"rate"`   // of game time that the CellApp asks for; Space.Rate is what it gets
}
