func measureCost() {}
