"""What people are shown of the decision log: the story of one decision, and the page of `onehook report`."""
