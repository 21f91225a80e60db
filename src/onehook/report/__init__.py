"""What people see of the decision log: the details of one decision, and the page of `onehook report`."""
