"""What runs teach: profiles, figures that are kept, and the keeper, which plans anew."""
